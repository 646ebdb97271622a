"""The benchmarks, one module for each thing that is measured."""
