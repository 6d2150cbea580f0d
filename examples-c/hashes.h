/* Written by `make bless`: environment, hash after the whole training, hash after `--quick`. */
{"none", 0, 0},
