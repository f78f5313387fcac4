// The camera: the user's, with the mouse of the window, or one of the scene.

const ORBIT = 180, STEEPEST = 89, ZOOM = 2.4;

class Camera {
  constructor(manifest) {
    this.manifest = manifest;
    this.size = manifest.extent || 1;
    this.chosen = -1;
    this.reset();
  }

  reset() { Object.assign(this, this.manifest.camera, { lookat: [...this.manifest.camera.lookat], chosen: -1 }); }

  // Make a drag turn about the moving bodies: the picture stays, and its centre moves to their distance.
  turnAbout(places) {
    const ahead = this.axes[2], place = plus(this.lookat, ahead, -this.distance), depths = [];
    for (let i = 0; i < places.length; i += 3) depths.push(dot(plus(places.subarray(i, i + 3), place, -1), ahead));
    const depth = depths.filter((each) => each > 0).sort((a, b) => a - b)[depths.length >> 1];
    if (this.orthographic || !(depth > 1.5 * this.distance || depth < this.distance / 1.5)) return;
    const first = { ...this.manifest.camera, lookat: plus(place, ahead, depth), distance: depth };
    this.manifest = { ...this.manifest, camera: first };
    this.reset();
  }

  get axes() {
    const a = this.azimuth * Math.PI / 180, e = this.elevation * Math.PI / 180;
    const ahead = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
    const right = [Math.sin(a), -Math.cos(a), 0];
    return [right, cross(right, ahead), ahead];
  }

  // Return what drawing needs for a size of the picture [CSS px] and poses of the bodies.
  picture(width, height, turns, places) {
    let [right, up, ahead] = this.axes, fovy = this.fovy, distance = this.distance,
      place = plus(this.lookat, ahead, -distance), focus = this.lookat;
    const fixed = this.manifest.cameras[this.chosen];
    if (fixed) {
      const own = turnOf(...fixed.quat), axis = (c) => [own[c], own[3 + c], own[6 + c]];
      const { turn, at } = poseOf(fixed.body, turns, places);
      [right, up, ahead] = [axis(0), axis(1), axis(2).map((v) => -v)].map(turn);
      place = at(fixed.pos);
      fovy = fixed.fovy;
      distance = Math.max(dot(plus(this.manifest.center || this.lookat, place, -1), ahead), 0.1 * this.size);
      focus = plus(place, ahead, distance);
    }
    const far = Math.max(this.far || 0, distance + 12 * this.size),
      near = clamp(this.near || 0.01 * distance, 0.002 * distance, 0.03 * distance);
    const orthographic = !!this.orthographic && !fixed;
    const slope = orthographic ? 0.5 * fovy : Math.tan(0.5 * fovy * Math.PI / 180);
    const tall = orthographic ? slope : near * slope, perPixel = 2 * slope / height, wide = slope * width / height;
    const view = viewMatrix(place, right, up, ahead.map((v) => -v));
    const projection = boxProjection(-tall * width / height, tall * width / height, -tall, tall, near, far,
      orthographic);
    return {
      view, projection, toClip: product(projection, view), place, ahead, focus, distance, orthographic, width, height,
      // From the picture to directions in the world, which have no position.
      skyFromClip: new Float64Array([
        ...right.map((v) => v * wide), 0, ...up.map((v) => v * slope), 0, ...ahead, 0, 0, 0, 0, 1,
      ]),
      pixelSize(p) { return orthographic ? perPixel : Math.abs(dot(plus(p, place, -1), ahead)) * perPixel; },
      recession(p) {
        const depth = dot(plus(p, place, -1), ahead);
        return orthographic || depth < 1e-12 ? [0, 0, 0] : ahead.map((v) => v / depth);
      },
      project(p) {
        const m = this.toClip, w = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
        if (w < 1e-12) return null;
        const x = (m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]) / w,
          y = (m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13]) / w;
        return [(0.5 + 0.5 * x) * width, (0.5 - 0.5 * y) * height, dot(plus(p, place, -1), ahead)];
      },
    };
  }

  // Turn by a drag, in heights of the picture.
  orbit(dx, dy) {
    this.chosen = -1;
    this.azimuth = (this.azimuth - ORBIT * dx + 540) % 360 - 180;
    this.elevation = clamp(this.elevation - ORBIT * dy, -STEEPEST, STEEPEST);
  }

  pan(dx, dy) {
    this.chosen = -1;
    const [right, up] = this.axes, height = 2 * this.distance * Math.tan(0.5 * this.fovy * Math.PI / 180);
    this.lookat = plus(plus(this.lookat, up, height * dy), right, -height * dx);
  }

  // Go nearer by a positive amount, towards a point of the picture from -1 to 1 in each direction.
  zoom(amount, [x, y] = [0, 0], aspect = 1) {
    this.chosen = -1;
    const before = this.distance, [right, up] = this.axes, slope = Math.tan(0.5 * this.fovy * Math.PI / 180);
    this.distance = clamp(before * Math.exp(-ZOOM * amount), 1e-4 * this.size, Math.max(40 * this.size, before));
    const moved = (before - this.distance) * slope;
    this.lookat = plus(plus(this.lookat, right, moved * x * aspect), up, moved * y);
  }
}
