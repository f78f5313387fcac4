#version 120
// A friction cone: its side as a fan of triangles, its rim as a ribbon that faces the eye, a few pixels wide.

attribute vec3 corner;   // angle about the axis [rad], height 0 to 1; on the side 0, on the ribbon's edges -1 and 1
attribute vec4 apex;     // [m, world], height [m]
attribute vec4 axis;     // unit [world], half width along tangent0 at the rim [m]
attribute vec4 tangent;  // tangent0, unit [world], half width along tangent1 at the rim [m]
attribute vec4 shape;    // 1 for a pyramid and 0 for an elliptic cone, unused
attribute vec4 color;

uniform mat4 view;
uniform mat4 projection;
uniform float orthographic;  // 1 or 0
uniform float pixel_size;    // of one pixel at unit depth, or at any depth if orthographic [m]

varying vec4 rgba;
varying vec3 place;    // along both tangents in half widths at the rim, 1 for a pyramid
varying vec3 slope;    // half widths and height [m]
varying vec3 toward;   // to the eye, along tangent0, tangent1 and axis
varying vec2 across;   // place across the ribbon and half its width [px]; half a width of 0: on the side

const float STEP = 0.19634954;  // angle between the points of the rim: as many as the mesh has
const float WIDEST = 1.9;       // half width of the ribbon [px]
const float THINNEST = 0.8;     // of small cones, which it would fill

mat3 frame;

vec2 rim_place(float angle)
{
    vec2 direction = vec2(cos(angle), sin(angle));
    return direction / mix(1.0, abs(direction.x) + abs(direction.y), shape.x);
}

// A point on the rim [m, eye], from the rim's centre.
vec3 rim_point(vec2 rim)
{
    return frame[0] * (rim.x * axis.w) + frame[1] * (rim.y * tangent.w);
}

void main()
{
    mat3 turn = mat3(view);
    frame = mat3(turn * tangent.xyz, turn * cross(axis.xyz, tangent.xyz), turn * axis.xyz);
    vec2 rim = rim_place(corner.x);
    vec3 start = (view * vec4(apex.xyz, 1.0)).xyz;
    vec3 offset = rim_point(rim);
    vec3 point = start + corner.y * (apex.w * frame[2] + offset);
    vec3 eye = mix(-normalize(point), vec3(0.0, 0.0, 1.0), orthographic);

    across = vec2(0.0);
    if (corner.z != 0.0) {
        float pixel = pixel_size * mix(-point.z, 1.0, orthographic);
        vec3 before = offset - rim_point(rim_place(corner.x - STEP));
        vec3 after = rim_point(rim_place(corner.x + STEP)) - offset;
        // Sideways of both neighbouring pieces as they are seen; a corner reaches farther than a straight piece.
        vec3 side = normalize(cross(before, eye) + vec3(1e-12));
        vec3 next_side = normalize(cross(after, eye) + vec3(1e-12));
        vec3 middle = normalize(side + next_side + vec3(1e-6));
        float size = min(axis.w, tangent.w) / pixel;
        across.y = clamp(0.15 * size, THINNEST, WIDEST);
        across.x = corner.z * (across.y + 0.5);
        point += middle * (across.x * pixel / max(dot(middle, side), 0.5));
    }
    rgba = color;
    place = vec3(corner.y * rim, shape.x);
    slope = vec3(axis.w, tangent.w, apex.w);
    toward = eye * frame;
    gl_Position = projection * vec4(point, 1.0);
}
