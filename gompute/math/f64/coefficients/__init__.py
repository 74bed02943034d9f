"""Tables and polynomials: circular, complement, error, exponential, inverse, logarithmic, roots.

Written by checks/math/generate_f64.py.
"""
