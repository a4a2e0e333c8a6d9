"""Examples of pictures, a file for each kind or family: ``CASES`` are functions without arguments that draw one."""
