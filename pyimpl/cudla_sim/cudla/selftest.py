"""placeholder"""
class SelfTest:
    def __init__(self, c): pass
