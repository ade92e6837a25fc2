"""The workloads as somebody who knows the library writes them, one module per engine.

Each module has:

    SIDES: by name of a workload, what makes its hand-written side. Sides are called with NumPy
        arrays and give what the library computes with or NumPy arrays, ready to be read.
        Those that train have `weights`, in the order of the K side's variables. Where results
        lie differently from the K side's, `layout` puts them in its order, for the check.
    NOTES (may be missing): by name of a workload, what a reader of the table should know.
    pin: a function that limits the threads of everything that runs in this process afterwards,
        Kameleon's engine included.
"""
