"""What both servers and their callers share over gRPC.

- How a server is reached: `addresses`, `tls`, `tokens`.
- How a server answers: `errors` (statuses and their details), `rates`, `health`, `metrics_page`.
- What both sides write: `games`, `names`, `files`.
- `_compat` has the private parts of gRPC that a server needs.
"""
