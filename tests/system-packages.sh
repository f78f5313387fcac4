#!/bin/sh
# What the tests need beside Python packages: a virtual display, headless OpenGL, and ffprobe as an independent judge.
missing=""
command -v Xvfb >/dev/null || missing="$missing xvfb"
command -v ffprobe >/dev/null || missing="$missing ffmpeg"
for library in libEGL.so.1:libegl1 libGL.so.1:libgl1 libOSMesa.so:libosmesa6; do
  ldconfig -p | grep -q "${library%%:*}" || missing="$missing ${library##*:}"
done
[ -z "$missing" ] && exit 0
if [ "$(uname)" = Linux ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing libgl1-mesa-dri >/dev/null
else
  echo "the tests need these packages:$missing" >&2
  exit 1
fi
