#version 120
// The silhouettes of an arrow's cylinder and cone, with smooth edges, lit from the eye.

#include "lighting.glsl"

uniform float opacity;

varying vec4 rgba;
varying vec3 place;
varying vec4 shape;  // height of the part, height of its round end, sine and cosine of the angle to the view

void main()
{
    float x = abs(place.x);
    float y = place.y;
    float rise = shape.x, round_ = shape.y, seen = shape.z, away = shape.w;

    // How far out the fragment lies: 1 on the silhouette.
    float out_;
    float slant;  // how far out on the round surface: 1 where it turns away from the eye
    if (place.z < 0.5) {
        float end = min(y, 0.0) / round_;
        out_ = length(vec2(x, end));
        slant = x;
    } else {
        // The hull of the base's ellipse and the tip: a tangent from the tip touches at height round_ * round_ / rise.
        float touch = rise > round_ ? sqrt(1.0 - round_ * round_ / (rise * rise)) : 0.0;
        bool beside = rise > round_ && x * round_ * round_ < y * rise * touch;
        out_ = beside ? touch * x + y / rise : length(vec2(x, y / round_));
        slant = min(x / max(1.0 - max(y, 0.0) / max(rise, round_), 1e-3), 1.0);
    }
    float edge = clamp((1.0 - out_) / max(fwidth(out_), 1e-6) + 0.5, 0.0, 1.0);
#ifndef HIDDEN
    if (edge <= 0.0) {
        discard;
    }
#endif
    float facing = sqrt(max(0.0, 1.0 - slant * slant)) * seen;
    if (place.z > 0.5) {
        // A cone of 20 degrees; from behind, the disk at its base.
        bool under = away < 0.0 && length(vec2(x, y / round_)) < 1.0;
        facing = under ? -0.6 * away : max(0.94 * facing + 0.35 * away, 0.0);
    }
    gl_FragColor = vec4(shade(rgba.rgb, facing), rgba.a * opacity * edge);
}
