"""One text: leaders and ledger, in a terminal, as a page and as a picture; several texts on one page."""
