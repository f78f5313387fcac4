"""A run as one HTML page: its contents and their format.

A page is ASCII: a content policy that allows its own script and style alone, styles, markup, a manifest (JSON),
sections (inert script elements) and a loader. The script, `web/*.js` in one scope, is a section itself, which the
loader unpacks.

A section is base64 of gzip. The manifest has the length, CRC-32, type and shape of each section, and how its array was
packed. `delta`: differences along the last axis, of the bits read as unsigned integers, which wrap around. `planes`:
the lowest bytes of all values first, then the next ones.

Poses are those of the bodies that move on their own: positions in integers of 10 micrometres, or of a finer unit in
small scenes; quaternions as four 16-bit numbers, whose sign does not jump. Shapes are fixed to these bodies, or to the
world. Vertices of meshes are 16-bit numbers within the box around each mesh; triangles follow a Morton curve, and
normals are not stored.

Contacts are rows in the order of the CSV file of `contact-viewer export`: by step, sensor and slot. The numbers of rows
that hold a contact are kept with all bits, slot by slot, because within a slot they change little from step to step.
Vectors along the world's axes are not kept: they are products and sums of the kept numbers, in a fixed order and with
as many bits as the engine has, so that the script and numpy compute the same bits.

A frame is a step whose pose is kept: each step, unless the run is long. Every k-th frame has contacts; k is 1 unless
there are many contacts. When poses no longer fit into the memory of a page, the number of physics steps per frame is
doubled; when contacts no longer fit, k is doubled.
"""
