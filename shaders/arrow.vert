#version 120
// An arrow as two rectangles that face the eye, one for the shaft and one for the head; the fragment shader cuts
// cylinder and cone out of them. An arrow shorter than its head is a small copy of a longer one.

attribute vec3 corner;   // across -1 to 1, along 0 to 1, shaft 0 or head 1
attribute vec4 origin;   // start [m, world], shaft diameter [m]
attribute vec4 span;     // start to tip [m, world], unused
attribute vec4 color;

uniform mat4 view;
uniform mat4 projection;
uniform float orthographic;  // 1 or 0
uniform float pixel_size;    // of one pixel at unit depth, or at any depth if orthographic [m]

varying vec4 rgba;
varying vec3 place;          // across and along, in radii of the part, from start or neck; 1 on the head, 0 on the shaft
varying vec4 shape;          // see arrow.frag

const float HEAD_LENGTH = 3.2;  // in shaft diameters
const float HEAD_RADIUS = 1.2;
const float SHORTEST = 4.4;     // length below which the whole arrow shrinks

void main()
{
    float size = length(span.xyz);
    vec3 start = (view * vec4(origin.xyz, 1.0)).xyz;
    vec3 axis = mat3(view) * (span.xyz / max(size, 1e-20));
    vec3 toward = mix(-normalize(start + 0.5 * size * axis), vec3(0.0, 0.0, 1.0), orthographic);

    // Across the view, and along it as far as it can be seen.
    vec3 across = cross(axis, toward);
    float seen = length(across);       // sine of the angle to the view
    float away = dot(axis, toward);    // its cosine, positive when the tip is nearer
    across = seen > 1e-4 ? across / seen : normalize(cross(toward, vec3(0.577, 0.577, -0.577)));
    vec3 along = cross(toward, across);
    float round_ = max(abs(away), 0.05);

    float width = min(origin.w, size / SHORTEST);
    float radius = width * mix(0.5, HEAD_RADIUS, corner.z);
    float head = HEAD_LENGTH * width;
    float from = mix(0.0, size - head, corner.z);
    float to = mix(size - head, size, corner.z);
    float rise = (to - from) * seen / radius;

    // One pixel wider than the part: room for its smooth edge.
    float pixel = pixel_size * mix(-start.z, 1.0, orthographic) / radius;
    float low = -round_ - pixel;
    float high = mix(rise, max(rise, round_) + pixel, corner.z);
    place = vec3(corner.x * (1.0 + pixel), mix(low, high, corner.y), corner.z);
    shape = vec4(rise, round_, seen, away);
    rgba = color;

    // The rectangle lies in the axis; half a radius nearer, so that surfaces the arrow grazes do not cut it in half.
    vec3 base = start + toward * (away * mix(from, to, corner.y) + 0.25 * width) + along * (seen * from);
    vec3 position = base + radius * (place.x * across + place.y * along);
    gl_Position = projection * vec4(position, 1.0);
}
