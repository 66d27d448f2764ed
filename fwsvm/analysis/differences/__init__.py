"""Two results of one experiment against each other (`fwsvm compare`): `evaluate` judges, `show` makes tables."""
