/* A picture [height, width, channels], windows over it, the distance between them, their numbers, and the picture's padding above
   and to the left. */
typedef struct {
  size_t height, width, channels, size[2], stride[2], windows[2], pad[2];
} @_windows;
