"""An environment for TRL, an interpreter for each rollout: `GRPOTrainer(environment_factory=PythonEnv, ...)`."""

import zygo


class PythonEnv:
    pool = zygo.Pool("python", limits={"cpu_ms": 300})  # or with a url: of all rollouts

    def reset(self, answer, **columns):
        """TRL calls it before each rollout, with the columns of the row."""
        self._answer, self._session = answer, self.pool.session()  # that of the rollout before ends: nobody has it

    def python(self, code: str) -> str:
        """
        Runs Python code in an interpreter that keeps its variables.

        Args:
            code: The code to run.

        Returns:
            What the code prints, the value of its last expression, and its error.
        """
        result = self._session.run(code)
        return (result.check() if result.by == "sandbox" else result).shown

    def get_reward(self):
        """By a variable of the rollout. None, which TRL leaves out, where zygo has failed."""
        last = self._session.run("answer")
        return None if last.by == "sandbox" else float(last.ok and last.value == self._answer)


if __name__ == "__main__":
    env = PythonEnv()
    env.reset(prompt="What is 6 times 7?", answer=42)
    for code in "x = 6; x", "while True: pass", "answer = x * 7; answer":
        print(env.python(code))
    print(env.get_reward())
