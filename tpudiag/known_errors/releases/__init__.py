"""Which release an error is about: what each release of a package has and needs."""
