"""Which binary questions stand for several classes: codes, and the committee that answers them."""
