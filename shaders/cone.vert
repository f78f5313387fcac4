#version 120
// A friction cone: its side as triangles of thin glass, clearer near the apex and denser where it turns away; its rim
// as a ribbon that faces the eye, a few pixels wide.

attribute vec4 corner;   // angle about the axis [rad], height 0 to 1; on the side 0, on the ribbon's edges -1 and 1;
                         // angle of the middle of the triangle
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
varying vec2 across;   // place across the ribbon and half its width [px]; half a width of 0: on the side

const float STEP = 0.19634954;  // angle between the points of the rim: as many as the mesh has
const float WIDEST = 1.9;       // half width of the ribbon [px]
const float THINNEST = 0.8;     // of small cones, which it would fill
const float FACING = 0.13;      // opacity of the side seen straight on, at the rim
const float TURNED = 0.34;      // and where it turns away

vec3 tangent0;
vec3 tangent1;

vec2 rim_place(float angle)
{
    vec2 direction = vec2(cos(angle), sin(angle));
    return direction / mix(1.0, abs(direction.x) + abs(direction.y), shape.x);
}

// A point on the rim [m, eye], from the rim's centre.
vec3 rim_point(float angle)
{
    vec2 place = rim_place(angle);
    return tangent0 * (place.x * axis.w) + tangent1 * (place.y * tangent.w);
}

// How much of the side is seen, 0 to 1, for an eye in that direction.
float facing(vec3 normal_axis, vec3 toward)
{
    bool is_pyramid = shape.x > 0.5;
    vec2 place = rim_place(is_pyramid || corner.y == 0.0 ? corner.w : corner.x);
    vec2 outward = (is_pyramid ? sign(place) : place) / max(vec2(axis.w, tangent.w), 1e-9);
    vec3 normal = outward.x * tangent0 + outward.y * tangent1 - normal_axis / max(apex.w, 1e-9);
    return abs(dot(normalize(normal), toward));
}

void main()
{
    mat3 turn = mat3(view);
    vec3 up = turn * axis.xyz;
    tangent0 = turn * tangent.xyz;
    tangent1 = cross(up, tangent0);
    vec3 offset = rim_point(corner.x);
    vec3 point = (view * vec4(apex.xyz, 1.0)).xyz + corner.y * (apex.w * up + offset);
    vec3 toward = mix(-normalize(point), vec3(0.0, 0.0, 1.0), orthographic);

    rgba = color;
    across = vec2(0.0);
    if (corner.z != 0.0) {
        // Sideways of both neighbouring pieces as they are seen; a corner reaches farther than a straight piece.
        vec3 side = normalize(cross(offset - rim_point(corner.x - STEP), toward) + vec3(1e-12));
        vec3 next_side = normalize(cross(rim_point(corner.x + STEP) - offset, toward) + vec3(1e-12));
        vec3 middle = normalize(side + next_side + vec3(1e-6));
        float pixel = pixel_size * mix(-point.z, 1.0, orthographic);
        across.y = clamp(0.15 * min(axis.w, tangent.w) / pixel, THINNEST, WIDEST);
        across.x = corner.z * (across.y + 0.5);
        point += middle * (across.x * pixel / max(dot(middle, side), 0.5));
    } else {
        rgba.a *= mix(TURNED, FACING, facing(up, toward)) * mix(0.5, 1.0, corner.y);
    }
    gl_Position = projection * vec4(point, 1.0);
}
