#version 120
// The disk of a sphere: smooth edge, dark outline one pixel wide, and the depth of the round surface.

#include "lighting.glsl"

uniform mat4 projection;
uniform vec2 depth_range;  // window depth = ndc depth * x + y
uniform float opacity;

varying vec4 rgba;
varying vec2 place;
varying float pixel_radius;
varying vec2 eye_depth;

void main()
{
    float radius = length(place);
    float inside = (1.0 - radius) * pixel_radius + 0.5;  // [px]
    float height = sqrt(max(0.0, 1.0 - radius * radius));
#ifndef HIDDEN
    if (inside <= 0.0) {
        discard;
    }
    float z = eye_depth.x + eye_depth.y * height;
    vec2 clip = vec2(projection[2][2] * z + projection[3][2], projection[2][3] * z + projection[3][3]);
    gl_FragDepth = clip.x / clip.y * depth_range.x + depth_range.y;
#endif
    // Small points keep their colour: the outline would eat them.
    float outline = clamp(1.8 - inside, 0.0, 1.0) * clamp((pixel_radius - 2.0) * 0.4, 0.0, 1.0);
    vec3 lit = shade(rgba.rgb, height) * (1.0 - 0.7 * outline);
    gl_FragColor = vec4(lit, rgba.a * opacity * clamp(inside, 0.0, 1.0));
}
