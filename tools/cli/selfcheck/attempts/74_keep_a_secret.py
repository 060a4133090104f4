"""Hold a secret, as any job may
"""
import signal

secret = "earlier-" + "secret-" + FACTS["token"]
kept = [secret * 3, secret.encode(), {secret: secret}]
sys.secret = kept
with open("secret", "w") as file:
    file.write(secret)
TRIAL.check("secret", True, "kept in memory and in a file")
TRIAL.report()
