#!/bin/bash
# README.md and docs/ quote what the program prints, and their pictures show what it writes. `make docs` renews both.
exec "$SOURCE/scripts/docs.py" --check
