#!/bin/sh
# A pilot of zygo on each host: sh FILE. Pilots drain and end when this script ends, by
# Ctrl-C, SIGTERM or SIGKILL: its end of their input closes. The hosts have the file of the
# token and a key of ours already.
set -u
hosts='n1 ada@n2'
remote='exec 3<&0; /opt/zygo/bin/zygo pilot --join https://one.example:8443 --join https://two.example --token-file /home/ada/pilot-token --ca-file /home/ada/ca.pem --drain-before 60s --grace 45s --template python-numpy </dev/null 3<&- & pilot=$!; (cat <&3 >/dev/null; kill -TERM "$pilot") 2>/dev/null & watch=$!; exec 3<&-; wait "$pilot"; status=$?; kill "$watch" 2>/dev/null; exit "$status"'

folder=$(mktemp -d) && mkfifo "$folder/input" || exit 1
exec 9<>"$folder/input" 8<"$folder/input"
rm -r "$folder"
ending=
trap 'ending=x$ending; exec 9>&-' INT TERM HUP
pilots=
for host in $hosts; do
  [ -z "$ending" ] || break
  ssh -o BatchMode=yes -o ServerAliveInterval=15 "$host" "$remote" <&8 8<&- 9>&- &
  pilots="$pilots $!"
done
status=0
for pilot in $pilots; do
  while :; do  # a signal ends a wait before the pilot has ended
    seen=$ending
    wait "$pilot"
    ended=$?
    [ "$ending" != "$seen" ] || break
  done
  [ "$ended" -eq 0 ] || status=1
done
exit "$status"
