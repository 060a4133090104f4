sleep 60 </dev/null || while :; do :; done
