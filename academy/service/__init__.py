"""The gRPC server.

- The way of a call: `interceptor`, `permissions`, `access`, `log_catch_up`, `limits`, `cost`,
  `scheduling`, `call_timeout`, `errors`.
- What is asked: `moves`, `consultation`, `consultation_counts`, `answers`, `advice`.
- What is written: `contests`, `proposals`, `libraries`, `tokens`, `transfer`.
- What is listed: `history`, `listing`, `paging`.
- In memory: `store_cache`, `books`, `game_cache`, `pattern_cache`.
- The process: `server`, `workers`, `metrics`.
"""
