#!/usr/bin/env python3
"""Holds the record or report that a program prints against its schema.

    check_schema.py SCHEMA PROGRAM [ARGUMENT...]

Exit status: 0 it fits, 1 it does not, 77 no jsonschema here.
"""
import json
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("jsonschema is not installed (Debian: python3-jsonschema)")
    sys.exit(77)


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    output = subprocess.run(sys.argv[2:], check=True, stdout=subprocess.PIPE).stdout
    record = json.loads(output.decode("utf-8"), parse_constant=refuse_constant)
    validator = jsonschema.Draft7Validator(schema)

    errors = list(validator.iter_errors(record))
    for error in errors:
        print("/".join(str(step) for step in error.absolute_path), error.message)

    # The schema must be able to refuse: a record with any one part missing, or a senseless time.
    accepted = []
    for key in schema["required"]:
        less = {name: value for name, value in record.items() if name != key}
        if validator.is_valid(less):
            accepted.append(f"a record without {key}")
    for senseless in (0, -1, None, "1"):
        changed = json.loads(json.dumps(record))
        for series in changed.get("series", []):
            series["ms"][0] = senseless
        if changed.get("series") and validator.is_valid(changed):
            accepted.append(f"a time of {senseless!r}")
    for what in accepted:
        print("the schema accepts", what)
    return 1 if errors or accepted else 0


if __name__ == "__main__":
    sys.exit(main())
