guess = 1
print(guess, flush=True)
while input() != "correct":
    guess += 1
    print(guess, flush=True)
