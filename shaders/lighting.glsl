// Light from the eye: the middle of a gizmo has its true colour, its silhouette is dark enough to stand out on any floor.

vec3 shade(vec3 color, float facing)
{
    return color * (0.4 + 0.6 * facing * (2.0 - facing));
}
