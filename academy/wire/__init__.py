"""What both servers and their callers share over gRPC.

- How a server is reached: `addresses`, `tls`, `tokens`.
- How a server answers: `errors` (statuses and their details), `rates` of `peers`, `limits`, `health`.
- What it says of itself: `logs`, `metrics_page`.
- What both sides write: `games`, `tesujis`, `names`, `files`.
- How programs begin: `command_line`, `interrupts`, `standard_streams`, `open_files`, `silent_grpc`.
- `_compat` has the private parts of gRPC that a server needs.
"""
