"""`python -m kameleon`: the same as the command `kameleon`."""

from kameleon.cli import main

if __name__ == "__main__":
    main()
