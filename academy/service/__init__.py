"""The gRPC server.

- The way of a call: `interceptor`, `permissions`, `limits`, `cost`, `stream_timeout`, `errors`.
- What is asked: `consultation`, `consultation_counts`, `contest_access`, `scheduling`, `queries`, `ranking`.
- What is written and listed: `contests`, `proposals`, `admin`, `write_queue`, `paging`.
- In memory: `game_cache`, `pattern_cache`.
- The process: `server`, `transport`, `workers`, `logs`, `metrics`.
"""
