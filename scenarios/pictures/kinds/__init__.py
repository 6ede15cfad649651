"""The kinds of pictures: a record each, called `KIND`, in a file of its name."""
