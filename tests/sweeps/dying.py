"""A worker that doesn't survive its second case: what libraries may do to the real one."""

import os
import sys

if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    print("null", flush=True)
    sys.stdin.readline()
    os.abort()
