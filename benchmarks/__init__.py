"""What Aster costs, measured beside a bare proxy in the same run: ``python -m benchmarks``.

Nothing here is a test: no figure is asserted on. What is checked is that every answer arrived whole.
"""
