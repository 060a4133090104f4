"""`tools/chaos`: jobs over routers and pilots that are killed, frozen and cut off at random."""
