// Package emit moves models between the IR and files: ONNX's protobuf format,
// external data, and the package on disk. It is the only package that knows
// protobuf.
package emit

// MaxProtoBytes is the size that a serialized model must stay below: protobuf's
// readers index with 32 signed bits. Go's protobuf would marshal more without
// complaint and no runtime could read it.
const MaxProtoBytes = 1<<31 - 1

// maxDepth is how many protobuf messages may be nested in a model. It is the
// limit of protobuf's C++ parser, which every runtime reads models with; one
// subgraph in another takes three levels.
const maxDepth = 100
