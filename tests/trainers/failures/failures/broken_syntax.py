"""Python 2, as many old trainers are."""

print "training"
