#version 120
// The side of a friction cone as thin glass, clearer near the apex and denser where it turns away; its rim as a line.

uniform float opacity;

varying vec4 rgba;
varying vec3 place;
varying vec3 slope;
varying vec3 toward;
varying vec2 across;

const float FACING = 0.13;   // opacity of the side seen straight on, at the rim
const float TURNED = 0.34;   // and where it turns away
const float OUTLINE = 1.0;   // width of the dark edges of the rim's line [px]

void main()
{
    if (across.y > 0.0) {
        float inside = across.y + 0.5 - abs(across.x);  // [px]
        // Thin lines keep their colour: the edges would eat them.
        float core = clamp(inside - OUTLINE * clamp(across.y - 0.8, 0.0, 1.0), 0.0, 1.0);
        gl_FragColor = vec4(rgba.rgb * mix(0.35, 1.0, core), rgba.a * opacity * clamp(inside, 0.0, 1.0) * mix(0.5, 1.0, core));
        return;
    }
    vec2 outward = place.z > 0.5 ? sign(place.xy) : place.xy / max(length(place.xy), 1e-6);
    vec3 normal = normalize(vec3(outward / max(slope.xy, 1e-9), -1.0 / max(slope.z, 1e-9)));
    float facing = abs(dot(normal, normalize(toward)));
    float height = place.z > 0.5 ? abs(place.x) + abs(place.y) : length(place.xy);
    float alpha = mix(TURNED, FACING, facing) * mix(0.5, 1.0, height);
    gl_FragColor = vec4(rgba.rgb, rgba.a * opacity * alpha);
}
