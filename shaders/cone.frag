#version 120
// The side of a friction cone, and its rim as a line with smooth, dark edges.

uniform float opacity;

varying vec4 rgba;
varying vec2 across;   // see cone.vert

void main()
{
    vec4 color = vec4(rgba.rgb, rgba.a * opacity);
    if (across.y > 0.0) {
        float inside = across.y + 0.5 - abs(across.x);  // [px]
        // Thin lines keep their colour: the edges would eat them.
        float core = clamp(inside - clamp(across.y - 0.8, 0.0, 1.0), 0.0, 1.0);
        color *= vec4(vec3(mix(0.35, 1.0, core)), clamp(inside, 0.0, 1.0) * mix(0.5, 1.0, core));
    }
    gl_FragColor = color;
}
