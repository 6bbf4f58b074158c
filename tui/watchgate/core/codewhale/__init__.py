"""CodeWhale's sink format: events, the frames in them, their stamps; our records as them."""
