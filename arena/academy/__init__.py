"""The arena as ACADEMY's client: contests opened, reported and delivered again until acknowledged."""
