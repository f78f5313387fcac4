#version 120
// The silhouettes of an arrow's cylinder and cone, with smooth edges and a dark outline, lit from the eye.

#include "lighting.glsl"

uniform float opacity;

varying vec4 rgba;
varying vec2 place;
varying vec4 outline;  // of the ellipse: 1 / half height, height up to which it is the outline; above: x, y of a line
const float OUTLINE = 1.5;  // beyond the silhouette [px]

varying vec4 light;    // share of the round surface and of the view along it, light on the base (-1: unseen), 1 / pixel

void main()
{
    float x = abs(place.x);
    float ellipse = length(vec2(x, place.y * outline.x));
    float line = outline.z * x + outline.w * place.y;
    float edge = (1.0 - (place.y < outline.y ? ellipse : line)) * light.w + 0.5;  // [px]
#ifndef HIDDEN
    if (edge <= -OUTLINE) {
        discard;
    }
#endif
    // How far out on the round surface: 1 where it turns away from the eye. Half a pixel less, so that thin arrows and
    // tips do not consist of dark edges alone.
    float out_ = min(outline.z * max(x - 0.5 / light.w, 0.0) / max(1.0 - outline.w * place.y, 1e-3), 1.0);
    float facing = max(light.x * sqrt(1.0 - out_ * out_) + light.y, 0.0);
    facing = light.z > 0.0 && ellipse < 1.0 ? 0.7 * light.z : facing;
    // The outline sets it off: the colour itself stays bright, so that it is read against a dark ground.
    facing = 0.5 + 0.5 * facing;
    vec3 lit = shade(rgba.rgb, facing) * clamp(edge, 0.0, 1.0);
    gl_FragColor = vec4(lit, rgba.a * opacity * clamp(edge + OUTLINE, 0.0, 1.0));
}
