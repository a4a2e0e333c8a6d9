"""Laws over whole catalogues, against exact arithmetic and other programs."""
