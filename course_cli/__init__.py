"""The command line of Measure First. Standard library only; one module a concern."""
