"""Edits that tests must notice: ``python -m tests.mutants`` (``make mutants``).

``edits.toml`` lists them: a file, a line of it as it is and as it becomes, and the tests that must
fail then. Each runs in a copy of the sources, without fixtures from outside; an edit whose tests
pass is a survivor, and wants a test or a ``reason``: why no test can tell it from the original.
"""
