"""The ground: conversation memory as plain Python values and functions, without a framework, I/O or a clock."""
