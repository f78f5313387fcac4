#version 120
// A sphere as one square that faces the eye; the fragment shader cuts the disk out and bends its depth.

attribute vec2 corner;   // of the square, -1 to 1
attribute vec4 sphere;   // center [m, world], radius [m]
attribute vec4 color;
attribute float nearer;  // how much nearer it is when compared with what may hide it [m]

uniform mat4 view;
uniform mat4 projection;
uniform float orthographic;  // 1 or 0
uniform float pixel_size;    // of one pixel at unit depth, or at any depth if orthographic [m]

varying vec4 rgba;
varying vec2 place;          // on the disk; its edge is at length 1
varying float pixel_radius;  // of the disk [px]
varying vec2 eye_depth;      // z of the center, z of the way from center to surface [m, eye]

const float SMALLEST = 1.5;  // radius below which a point would vanish [px]

void main()
{
    vec3 center = (view * vec4(sphere.xyz, 1.0)).xyz;
    float size = pixel_size * mix(-center.z, 1.0, orthographic);
    float radius = max(sphere.w, SMALLEST * size);
    pixel_radius = radius / size;

    vec3 toward = mix(-normalize(center), vec3(0.0, 0.0, 1.0), orthographic);
    vec3 side = normalize(cross(vec3(0.0, 1.0, 0.0), toward));
    vec3 up = cross(toward, side);
    // Wider than the disk: room for its smooth edge.
    place = corner * (1.0 + 0.6 / pixel_radius);
    vec3 position = center + radius * (place.x * side + place.y * up);

    rgba = color;
    gl_Position = projection * vec4(position, 1.0);
    // As in arrow.vert.
    float share = min(nearer / max(length(position), 1e-20), 0.6);
    position = mix(position * (1.0 - share), position + vec3(0.0, 0.0, nearer), orthographic);
    vec4 compared = projection * vec4(position, 1.0);
    gl_Position.z = compared.z / compared.w * gl_Position.w;
    eye_depth = vec2(position.z, radius * toward.z);
}
