import joblib
from joblib import Parallel, delayed

import zygo

zygo.register_joblib()
backend = getattr(joblib, "parallel_config", joblib.parallel_backend)  # the latter before joblib 1.3
with backend("zygo"):
    print(Parallel(n_jobs=-1)(delayed(pow)(n, 2) for n in range(10)))
