"""The C ABI: decodes arguments, calls a model, encodes the result.

Only this package imports cffi, and it is only imported when the native library is loaded.
"""
