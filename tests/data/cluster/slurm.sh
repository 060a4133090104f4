#!/bin/sh
# Pilots of zygo as a job array: sbatch FILE. scancel JOB ends them; they drain first.
# A partition, an account or a constraint go into lines like these.
#SBATCH --job-name=zygo-pilot
#SBATCH --array=1-4
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=3072M
#SBATCH --time=30:00:00
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=zygo-pilot-%A_%a.log

exec /opt/zygo/bin/zygo pilot --join https://one.example:8443 --join https://two.example --token-file /home/ada/pilot-token --ca-file /home/ada/ca.pem --drain-before 60s --grace 45s --template python-numpy
