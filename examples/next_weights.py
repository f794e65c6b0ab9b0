"""A variant of the best member: one of its weights is moved a step. See docs/how-to/generations.md."""

import json
import random
import sys

request = json.loads(sys.stdin.readline())
chance = random.Random(request["seed"])
best = request["members"][0]
values = dict(best["values"])
name = chance.choice(sorted(values))
# Steps grow smaller from generation to generation.
values[name] = round(values[name] + chance.choice((-1, 1)) * 0.8 / (1 + request["generation"]) ** 0.5, 4)
print(json.dumps({"values": values, "parents": [best["name"]]}))
