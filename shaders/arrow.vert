#version 120
// An arrow as two flat pieces that face the eye, a rectangle for the shaft and a triangle for the head; the fragment
// shader cuts cylinder and cone out of them. An arrow shorter than its head is a small copy of a longer one.

attribute vec3 corner;   // across -1 to 1, along 0 to 1; on the shaft 0, on the head 1
attribute vec4 origin;   // start [m, world], shaft diameter [m]
attribute vec4 span;     // start to tip [m, world], how much nearer it is when compared with what may hide it [m]
attribute vec4 color;

uniform mat4 view;
uniform mat4 projection;
uniform float orthographic;  // 1 or 0
uniform float pixel_size;    // of one pixel at unit depth, or at any depth if orthographic [m]

varying vec4 rgba;
varying vec2 place;      // across and along, in radii of the part, from start or neck
varying vec4 outline;    // see arrow.frag
varying vec4 light;      // see arrow.frag

const float HEAD_LENGTH = 3.4;  // in shaft diameters
const float HEAD_RADIUS = 1.3;
const float SHORTEST = 4.6;     // length below which the whole arrow shrinks
const vec2 HEAD_NORMAL = vec2(0.936, 0.351);  // of the cone: outward, along

void main()
{
    bool is_head = corner.z > 0.5;
    float size = length(span.xyz);
    vec3 start = (view * vec4(origin.xyz, 1.0)).xyz;
    vec3 axis = mat3(view) * (span.xyz / max(size, 1e-20));
    vec3 toward = mix(-normalize(start + 0.5 * size * axis), vec3(0.0, 0.0, 1.0), orthographic);

    // Across the view, and along the arrow as it is seen.
    vec3 across = cross(axis, toward);
    float seen = length(across);        // sine of the angle to the view
    float nearing = dot(axis, toward);  // its cosine: positive when the tip is nearer
    across = seen > 1e-4 ? across / seen : normalize(cross(toward, vec3(0.577, 0.577, -0.577)));
    vec3 along = cross(toward, across);

    float width = min(origin.w, size / SHORTEST);
    float neck = size - HEAD_LENGTH * width;
    float radius = width * (is_head ? HEAD_RADIUS : 0.5);
    float from = is_head ? neck : 0.0;
    float to = is_head ? size : neck;
    float rise = (to - from) * seen / radius;
    float base = max(abs(nearing), 0.02);  // half height of the round end, an ellipse
    float pixel = pixel_size * mix(-start.z, 1.0, orthographic) / radius;
    float margin = 2.1 * pixel;            // room for the outline and its smooth edge

    // Outlines: the shaft is the ellipse and straight sides; the head is the ellipse and its tangents from the tip, or
    // the ellipse alone when the tip lies inside it. Pieces: a rectangle; a triangle along those tangents, or around
    // the ellipse.
    float low = -base - margin;
    float high = rise;
    float half_width = 1.0 + margin;
    outline = vec4(1.0 / base, 0.0, 1.0, 0.0);
    if (is_head && rise > 1.1 * base) {
        float touch = sqrt(1.0 - base * base / (rise * rise));
        high = rise * (1.0 + 2.0 * margin);
        half_width = (1.0 - low / rise + 2.0 * margin) / touch;
        outline = vec4(1.0 / base, base * base / rise, touch, 1.0 / rise);
    } else if (is_head) {
        high = -2.0 * low;
        half_width *= 1.7321;
        outline.y = high;
    }
    float y = mix(low, high, corner.y);
    place = vec2(corner.x * half_width, y);
    vec2 normal = is_head ? HEAD_NORMAL : vec2(1.0, 0.0);
    light = vec4(normal.x * seen, normal.y * nearing, nearing < 0.0 ? -nearing : -1.0, 1.0 / pixel);
    rgba = color;

    // The piece lies in the axis, a quarter of the shaft nearer: surfaces that the arrow grazes do not cut it in half.
    vec3 middle = start + toward * (nearing * mix(from, to, corner.y) + 0.25 * width) + along * (seen * from);
    vec3 corner_at = middle + radius * (place.x * across + place.y * along);
    gl_Position = projection * vec4(corner_at, 1.0);
    // Seen at the same place, but compared as if it were nearer: the body that it acts on does not hide it.
    float distance = length(corner_at);
    vec3 nearer = mix(corner_at * (1.0 - min(span.w / max(distance, 1e-20), 0.6)), corner_at + vec3(0.0, 0.0, span.w),
                      orthographic);
    vec4 compared = projection * vec4(nearer, 1.0);
    gl_Position.z = compared.z / compared.w * gl_Position.w;
}
