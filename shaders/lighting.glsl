// Light from the eye: the middle of a gizmo has its true colour, its silhouette is dark enough to stand out on any floor.

vec3 shade(vec3 color, float facing)
{
    return color * mix(0.38, 1.0, min(facing * 1.5, 1.0));
}
