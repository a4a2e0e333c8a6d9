"""Agreement with other libraries on the same problem."""
